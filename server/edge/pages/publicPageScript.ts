/**
 * PublicPageScript holds the only script of public pages. It keeps an open Live page up to date; without it the page can
 * be read all the same.
 *
 * The script listens to the events of the page, fetches the page again and changes only the nodes that differ. Equal nodes
 * stay, so selections, focus, open details and loaded pictures stay. The block at the top of the view does not move.
 */
export const publicPageScript = `"use strict";
(() => {
  const firstDelayMs = 1000, lastDelayMs = 60000, noticeMs = 4000, maxComparisons = 1000000;
  const root = document.documentElement;
  const notice = document.getElementById("notice");
  const eventsUrl = new URL(document.currentScript.dataset.events, location.href).href;
  let source, retryTimer, noticeTimer, lastTag;
  let delayMs = firstDelayMs, isUpdating = false, isStale = false, hasEnded = false, changes = 0;

  // Changes only the characters that differ, because the browser keeps a selection around them.
  const morphText = (node, next) => {
    const from = node.data, to = next.data;
    let start = 0, fromEnd = from.length, toEnd = to.length;
    while (start < fromEnd && start < toEnd && from[start] === to[start]) start += 1;
    while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) fromEnd -= 1, toEnd -= 1;
    node.replaceData(start, fromEnd - start, to.slice(start, toEnd));
  };
  const morphAttributes = (node, next) => {
    for (const { name } of [...node.attributes]) if (!next.hasAttribute(name)) node.removeAttribute(name);
    for (const { name, value } of next.attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  };
  const morph = (node, next) => {
    if (node.isEqualNode(next)) return;
    if (node.nodeType === Node.TEXT_NODE) {
      changes += 1;
      morphText(node, next);
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      // A synchronization can change the time of a page and nothing that a reader sees.
      if (node.nodeName !== "TIME" && !node.cloneNode(false).isEqualNode(next.cloneNode(false))) changes += 1;
      morphAttributes(node, next);
      morphChildren(node, next);
    }
  };
  // Returns pairs of positions with equal nodes: a longest common subsequence.
  const pairEqual = (olds, news) => {
    if (olds.length * news.length > maxComparisons) return [];
    const ids = new Map();
    const idOf = (node) => {
      const text = node.nodeType === Node.ELEMENT_NODE ? node.outerHTML : "#" + node.data;
      if (!ids.has(text)) ids.set(text, ids.size);
      return ids.get(text);
    };
    const from = olds.map(idOf), to = news.map(idOf), width = to.length + 1;
    const lengths = new Uint32Array((from.length + 1) * width);
    for (let i = from.length - 1; i >= 0; i -= 1)
      for (let j = to.length - 1; j >= 0; j -= 1)
        lengths[i * width + j] = from[i] === to[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    const pairs = [];
    for (let i = 0, j = 0; i < from.length && j < to.length; ) {
      if (from[i] === to[j]) pairs.push([i++, j++]);
      else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
      else j += 1;
    }
    return pairs;
  };
  const replaceRange = (parent, olds, news, before) => {
    let at = 0;
    for (const fresh of news) {
      const old = olds[at];
      if (old !== undefined && old.nodeName === fresh.nodeName) {
        morph(old, fresh);
        at += 1;
      } else {
        changes += 1;
        parent.insertBefore(document.importNode(fresh, true), old || before);
      }
    }
    for (const old of olds.slice(at)) {
      changes += 1;
      old.remove();
    }
  };
  const morphChildren = (parent, next) => {
    const olds = [...parent.childNodes], news = [...next.childNodes];
    let start = 0, oldEnd = olds.length, newEnd = news.length;
    while (start < oldEnd && start < newEnd && olds[start].isEqualNode(news[start])) start += 1;
    while (oldEnd > start && newEnd > start && olds[oldEnd - 1].isEqualNode(news[newEnd - 1])) oldEnd -= 1, newEnd -= 1;
    let old = start, fresh = start;
    for (const [i, j] of [...pairEqual(olds.slice(start, oldEnd), news.slice(start, newEnd)), [oldEnd - start, newEnd - start]]) {
      replaceRange(parent, olds.slice(old, start + i), news.slice(fresh, start + j), olds[start + i] || null);
      old = start + i + 1;
      fresh = start + j + 1;
    }
  };

  // What the reader has opened or closed is put back after the change, and ignored by the comparison.
  const served = new WeakMap();
  const eachDetails = (use) => document.querySelectorAll("details").forEach(use);
  const keepDetails = (change) => {
    const chosen = new Map();
    eachDetails((details) => {
      if (details.open !== served.get(details)) chosen.set(details, details.open);
      details.open = served.get(details);
    });
    change();
    eachDetails((details) => {
      served.set(details, details.open);
      if (chosen.has(details)) details.open = chosen.get(details);
    });
  };
  eachDetails((details) => served.set(details, details.open));

  // Blocks from the top of the view on, the innermost one first. Blocks above follow, nearest first.
  const findPlaces = () => {
    const top = (block) => block.getBoundingClientRect().top;
    const isAbove = (block) => block.getBoundingClientRect().bottom <= 0;
    const split = (blocks) => {
      const at = blocks.findIndex((block) => !isAbove(block));
      return at < 0 ? [[], blocks] : [blocks.slice(at), blocks.slice(0, at)];
    };
    const [below, above] = split([...document.querySelectorAll(".text > *")]);
    const places = [...below.slice(0, 20), ...above.slice(-20).reverse()];
    for (let block = below[0]; block !== undefined && top(block) < 0; ) {
      const [inner] = split([...block.children].filter((child) => child.getClientRects().length > 0));
      [block] = inner;
      if (block !== undefined) places.unshift(block);
    }
    return places.map((block) => ({ block, top: top(block) }));
  };
  const keepPlace = (change) => {
    if (scrollY === 0) return change();
    const places = findPlaces();
    // The browser's own anchoring would correct the position a second time.
    root.style.overflowAnchor = "none";
    change();
    const kept = places.find(({ block }) => block.isConnected);
    if (kept !== undefined) scrollBy(0, kept.block.getBoundingClientRect().top - kept.top);
    requestAnimationFrame(() => root.style.removeProperty("overflow-anchor"));
  };

  // A text that is shown already is not written again, so a screen reader does not repeat it.
  const announce = (text) => {
    clearTimeout(noticeTimer);
    if (notice.textContent !== text) notice.textContent = text;
    noticeTimer = setTimeout(() => (notice.textContent = ""), noticeMs);
  };
  const show = (html, isPublic) => {
    const next = new DOMParser().parseFromString(html, "text/html");
    // At its own place, so that an equal page has no difference and nothing is announced.
    const nextNotice = next.getElementById("notice");
    if (nextNotice !== null) nextNotice.replaceWith(notice.cloneNode(true));
    else next.body.append(notice.cloneNode(true));
    changes = 0;
    keepPlace(() => keepDetails(() => morphChildren(document.body, next.body)));
    document.title = next.title;
    root.lang = next.documentElement.lang;
    root.dir = next.documentElement.dir;
    if (changes > 0) announce(isPublic ? notice.dataset.updated : notice.dataset.removed);
    if (isPublic && next.querySelector("script[data-events]") !== null) return;
    hasEnded = true;
    disconnect();
  };
  const update = async () => {
    if (hasEnded) return;
    isStale = true;
    if (isUpdating) return;
    isUpdating = true;
    try {
      while (isStale && !hasEnded) {
        isStale = false;
        const response = await fetch(location.pathname, { cache: "no-cache", headers: { accept: "text/html" } });
        const isPublic = response.status === 200;
        if (!isPublic && response.status !== 410 && response.status !== 404) throw new Error("status " + response.status);
        // The server had no time to lay the text out and asks not to keep this answer.
        if (response.headers.get("cache-control") === "no-store") throw new Error("provisional");
        const html = await response.text();
        const tag = response.headers.get("etag");
        if (!isPublic || tag === null || tag !== lastTag) show(html, isPublic);
        lastTag = tag;
      }
    } catch {
      retry();
    } finally {
      isUpdating = false;
    }
  };

  const disconnect = () => {
    clearTimeout(retryTimer);
    retryTimer = undefined;
    source?.close();
    source = undefined;
  };
  const connect = () => {
    disconnect();
    if (hasEnded || document.hidden) return;
    source = new EventSource(eventsUrl);
    source.addEventListener("open", () => (delayMs = firstDelayMs));
    // The first event comes at once, so a change while no connection was open is found too.
    source.addEventListener("page.updated", update);
    source.addEventListener("page.removed", update);
    source.addEventListener("error", () => {
      // While the state is CONNECTING, the browser tries again by itself.
      if (source?.readyState !== EventSource.CLOSED) return;
      retry();
      void update();
    });
  };
  const retry = () => {
    if (hasEnded || document.hidden || retryTimer !== undefined) return;
    disconnect();
    retryTimer = setTimeout(connect, delayMs * (0.5 + Math.random() / 2));
    delayMs = Math.min(delayMs * 2, lastDelayMs);
  };

  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  // An open connection would keep the page out of the cache for "back" and "forward".
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", ({ persisted }) => persisted && connect());
  connect();
})();
`;
