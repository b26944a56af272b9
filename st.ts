import { execSync, spawn } from "node:child_process";
import { startBenchServer } from "./bench/live/benchServer.ts";
import { drive } from "./bench/live/load.ts";
const server = await startBenchServer("ours");
const shape = { rooms: 1, clients: 10, typists: 10 };
await drive(server, shape, { updates: 26, everyMs: 500 });
let child: any;
await drive(server, shape, { updates: 10, everyMs: 500 }, { begin: async () => { child = spawn("strace", ["-f", "-tt", "-T", "-o", "/tmp/strace.out", "-p", String(server.pids[0])]); await new Promise((r) => setTimeout(r, 500)); }, end: async () => { child.kill("SIGINT"); } });
await server.stop(); process.exit(0);
