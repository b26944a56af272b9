import { startBenchServer } from "./bench/live/benchServer.ts";
import { drive } from "./bench/live/load.ts";
const [clients = "10", typists = "10", every = "500", rooms = "1"] = process.argv.slice(2);
const shape = { rooms: +rooms, clients: +clients, typists: +typists };
const server = await startBenchServer("ours");
for (let i = 0; i < 3; i++) console.log(await drive(server, shape, { updates: Math.ceil(10000 / +every), everyMs: +every }));
await server.stop(); process.exit(0);
