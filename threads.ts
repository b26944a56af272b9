/* per-thread CPU for a paced scenario: threads.ts SERVER CLIENTS TYPISTS EVERY ROOMS SECONDS [nodeargs] */
import { readdirSync, readFileSync } from "node:fs";
import { startBenchServer } from "./bench/live/benchServer.ts";
import { drive } from "./bench/live/load.ts";
const [name = "ours", clients = "10", typists = "10", every = "500", rooms = "1", seconds = "12"] = process.argv.slice(2);
const shape = { rooms: +rooms, clients: +clients, typists: +typists };
const server = await startBenchServer(name as never);
const read = () => {
  const out = new Map<string, { comm: string; ns: number; vol: number; invol: number }>();
  for (const pid of server.pids) for (const t of readdirSync(`/proc/${pid}/task`)) {
    try {
      const s = readFileSync(`/proc/${pid}/task/${t}/status`, "utf8");
      out.set(t, { comm: readFileSync(`/proc/${pid}/task/${t}/comm`, "utf8").trim(), ns: +readFileSync(`/proc/${pid}/task/${t}/schedstat`, "utf8").split(" ")[0], vol: +/voluntary_ctxt_switches:\s+(\d+)/.exec(s)![1], invol: +/nonvoluntary_ctxt_switches:\s+(\d+)/.exec(s)![1] });
    } catch {}
  }
  return out;
};
const diff = (a: any, b: any, per: number, label: string) => {
  let total = 0;
  for (const [t, v] of b) { const o = a.get(t) ?? { ns: 0, vol: 0, invol: 0 }; const us = (v.ns - o.ns) / 1e3; total += us; if (us / per > 0.5) console.log(label, t, v.comm, "us/unit", (us / per).toFixed(1), "vol/unit", ((v.vol - o.vol) / per).toFixed(2), "invol", v.invol - o.invol); }
  console.log(label, "total us/unit", (total / per).toFixed(1));
};
await drive(server, shape, { updates: Math.ceil(10000 / +every), everyMs: +every });
await new Promise((r) => setTimeout(r, 6000));
let a = read(); await new Promise((r) => setTimeout(r, 5000)); diff(a, read(), 5, "idle/s");
const updates = Math.ceil(+seconds * 1000 / +every);
for (let i = 0; i < 2; i++) {
let b: any;
const f = await drive(server, shape, { updates, everyMs: +every }, { begin: async () => { a = read(); }, end: async () => { b = read(); } });
diff(a, b, updates * +rooms * +typists, "key"); console.log(f);
}
await server.stop(); process.exit(0);
