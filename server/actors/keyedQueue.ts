/** Runs one piece of work at a time for each key, in the order asked; other keys do not wait. */
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
