import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./app/data.ts";
import { resumeSession } from "./session/session.ts";
import { router } from "./shell/router.tsx";
import "./theme.css";

const place = document.getElementById("app");
if (place === null) throw new Error("index.html has no element with the id app");
void resumeSession();
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Tooltip.Provider delayDuration={400} skipDelayDuration={200}>
        <RouterProvider router={router} />
      </Tooltip.Provider>
    </QueryClientProvider>
  </StrictMode>,
);
