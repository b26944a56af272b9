/**
 * Counts the turns of this thread's event loop during a task. Work in another thread leaves thousands of turns; work on
 * the loop itself leaves only a few, on machines of any speed or load.
 */
export async function countLoopTurns<Value>(task: () => Promise<Value>): Promise<{ readonly turns: number; readonly value: Value }> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    const value = await task();
    return { value, turns };
  } finally {
    isOver = true;
  }
}
