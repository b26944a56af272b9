import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { StorageFullError, StorageUnavailableError } from "../port.ts";
import { createDiskSpace } from "./diskSpace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
  const probe = vi.fn();
  const onDiskError = vi.fn();
  const disk = createDiskSpace({ directory: tmpdir(), reserveMiB: 0, probe, onDiskError });
  return { disk, probe, onDiskError };
}

const withCode = (code: string | number) => Object.assign(new Error(`write failed (${code})`), { code });

describe("disk space", () => {
  test.each(["ENOSPC", "EDQUOT", 28])("[ST19] after a write that found no space (%s), writes are refused until one succeeds", (code) => {
    const { disk, probe, onDiskError } = setUp();
    expect(disk.refusal()).toBeUndefined();
    expect(disk.failed(withCode(code))).toBeInstanceOf(StorageFullError);
    expect(disk.refusal()).toBeInstanceOf(StorageFullError);
    vi.advanceTimersByTime(2000);
    expect(probe).toHaveBeenCalledTimes(2);
    expect(disk.refusal()).toBeInstanceOf(StorageFullError);
    disk.committed();
    expect(disk.refusal()).toBeUndefined();
    vi.advanceTimersByTime(2000);
    expect(probe).toHaveBeenCalledTimes(2);
    expect(onDiskError).not.toHaveBeenCalled();
    disk.close();
  });

  test("[ST19] the cause of an error is examined as well", () => {
    const { disk } = setUp();
    expect(disk.failed(new Error("Commit failed", { cause: withCode(28) }))).toBeInstanceOf(StorageFullError);
    disk.close();
  });

  test("[ST19] an input-output error with free space is a broken disk: logged once, refused for good", () => {
    const { disk, probe, onDiskError } = setUp();
    expect(disk.failed(withCode(5))).toBeInstanceOf(StorageUnavailableError);
    expect(onDiskError).toHaveBeenCalledTimes(1);
    disk.committed();
    expect(disk.refusal()).toBeInstanceOf(StorageUnavailableError);
    vi.advanceTimersByTime(3000);
    expect(probe).not.toHaveBeenCalled();
    disk.close();
  });

  test.each([
    [256, 100_000, 256],
    [256, 1000, 100],
    [50, 1000, 50],
  ])("[ST19] writes are refused below the reserve: %i MiB of a disk of %i MiB make %i MiB", (reserveMiB, totalMiB, limitMiB) => {
    const MiB = 1024 * 1024;
    let freeBytes = limitMiB * MiB;
    const probe = vi.fn();
    const readSpace = () => ({ freeBytes, totalBytes: totalMiB * MiB });
    const disk = createDiskSpace({ directory: "/data", reserveMiB, probe, onDiskError: vi.fn(), readSpace });
    expect(disk.refusal()).toBeUndefined();
    freeBytes -= 1;
    vi.advanceTimersByTime(1000);
    expect(disk.refusal()).toBeInstanceOf(StorageFullError);
    expect(disk.failed(withCode("EIO"))).toBeInstanceOf(StorageFullError);
    vi.advanceTimersByTime(1000);
    expect(probe).not.toHaveBeenCalled();
    freeBytes += 1;
    vi.advanceTimersByTime(1000);
    expect(probe).toHaveBeenCalledTimes(1);
    expect(disk.refusal()).toBeInstanceOf(StorageFullError);
    disk.committed();
    expect(disk.refusal()).toBeUndefined();
    disk.close();
  });
});
