// Saves what is in view as a PNG, with title, time and colour bar.

export function savePicture(stage, title, stamp, legend) {
  stage.drawNow();
  const source = stage.renderer.domElement, ratio = source.width / stage.size().width;
  const canvas = Object.assign(document.createElement("canvas"), { width: source.width, height: source.height });
  const c = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  c.drawImage(source, 0, 0);
  c.scale(ratio, ratio);
  c.fillStyle = style.getPropertyValue("--ink");
  c.font = "600 15px system-ui, sans-serif";
  c.fillText(title, 18, 28);
  c.font = "13px system-ui, sans-serif";
  c.fillText(stamp, 18, 48);
  const foot = stage.size().height, bar = legend.querySelector("canvas");
  if (!bar.hidden) c.drawImage(bar, 18, foot - 46, 220, 10);
  c.fillText(legend.querySelector(".label").textContent, 18, foot - 54);
  let along = 18;
  for (const kind of legend.querySelectorAll(".kinds span")) {
    const ink = c.fillStyle;
    c.fillStyle = kind.firstChild.style.background;
    c.beginPath();
    c.arc(along + 5, foot - 38, 5, 0, 2 * Math.PI);
    c.fill();
    c.fillStyle = ink;
    c.fillText(kind.textContent, along + 15, foot - 34);
    along += 32 + c.measureText(kind.textContent).width;
  }
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "center";
  for (const tick of legend.querySelectorAll(".ticks span")) {
    c.fillText(tick.textContent, 18 + 2.2 * parseFloat(tick.style.left), foot - 22);
  }
  canvas.toBlob((blob) => {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob) });
    link.download = `${title.replace(/[^\w-]+/g, "-").slice(0, 40)}-${stamp.replace(/[^\w.]+/g, "")}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
