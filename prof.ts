/* CPU profile of our server in a paced scenario: prof.ts CLIENTS TYPISTS EVERY ROOMS SECONDS OUT */
import { writeFileSync } from "node:fs";
import { WebSocket } from "ws";
import { startBenchServer } from "./bench/live/benchServer.ts";
import { drive } from "./bench/live/load.ts";
const [clients = "10", typists = "10", every = "500", rooms = "1", seconds = "12", out = "/tmp/p.cpuprofile"] = process.argv.slice(2);
const shape = { rooms: +rooms, clients: +clients, typists: +typists };
const server = await startBenchServer("ours");
const [target] = await (await fetch("http://127.0.0.1:9444/json")).json() as any;
const ws = new WebSocket(target.webSocketDebuggerUrl);
await new Promise((r) => ws.once("open", r));
let id = 0; const waits = new Map();
ws.on("message", (d) => { const m = JSON.parse(String(d)); waits.get(m.id)?.(m.result); });
const call = (method: string, params = {}) => new Promise<any>((r) => { waits.set(++id, r); ws.send(JSON.stringify({ id, method, params })); });
await drive(server, shape, { updates: +every === 0 ? 100 : Math.ceil(10000 / +every), everyMs: +every });
const updates = +every === 0 ? 100 : Math.ceil(+seconds * 1000 / +every);
await call("Profiler.enable"); await call("Profiler.setSamplingInterval", { interval: 100 });
const f = await drive(server, shape, { updates, everyMs: +every }, { begin: async () => { await call("Profiler.start"); }, end: async () => {
  const { profile } = await call("Profiler.stop"); writeFileSync(out, JSON.stringify(profile)); } });
console.log(f, "units", updates * +rooms * +typists);
ws.close(); await server.stop();
process.exit(0);
