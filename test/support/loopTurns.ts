/**
 * Counts the turns of this thread's event loop while a task is under way. Work in another thread leaves thousands of turns
 * to others; work on the loop itself leaves a handful, however fast or busy the machine is.
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
