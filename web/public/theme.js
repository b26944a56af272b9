// Sets the theme before the first paint. It is a file of its own because the content security policy forbids inline scripts.
(() => {
  const chosen = localStorage.getItem("theme");
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
})();
