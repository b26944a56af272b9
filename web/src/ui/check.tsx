/** A box that is on or off, with its label. */
interface CheckProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function Check({ label, isOn, onChange }: CheckProps) {
  return (
    <label className="mb-2 flex items-start gap-2 text-sm">
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} className="mt-1 accent-(--accent)" />
      {label}
    </label>
  );
}
