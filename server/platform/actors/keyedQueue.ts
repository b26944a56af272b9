/**
 * KeyedQueue runs the tasks of one key one at a time, in the order of the calls. Different keys do not wait for each
 * other.
 */
export interface KeyedQueue {
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
      const before = tails.get(key);
      const result = before === undefined ? work() : before.then(work, work);
      tails.set(key, result);
      const forget = () => {
        if (tails.get(key) === result) tails.delete(key);
      };
      result.then(forget, forget);
      return result;
    },
  };
}
