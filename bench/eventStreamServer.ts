/** Runs the minimal event stream server: it writes each posted body to every open stream, and does nothing else. */
import * as uws from "uWebSockets.js";

const { App } = uws;

const viewers = new Set<uws.HttpResponse>();
const app = App();
app.get("/*", (response) => {
  viewers.add(response);
  response.onAborted(() => {
    viewers.delete(response);
  });
  response.cork(() => {
    response.writeHeader("content-type", "text/event-stream").write("retry: 2000\n\n");
  });
});
app.post("/*", (response) => {
  let body = Buffer.alloc(0);
  response.onAborted(() => {});
  response.onData((chunk, isLast) => {
    body = Buffer.concat([body, Buffer.from(chunk)]);
    if (!isLast) return;
    for (const viewer of viewers) {
      viewer.cork(() => {
        viewer.write(body);
      });
    }
    response.cork(() => {
      response.end("");
    });
  });
});
app.listen("127.0.0.1", Number(process.env.PORT ?? 0), () => {});
