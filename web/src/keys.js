// Keys; the help dialog lists them.

export const KEYS = [
  [" ", "space", "play, pause"], ["ArrowLeft", "\u2190", "one frame back"], ["ArrowRight", "\u2192", "one frame on"],
  ["Home", "Home", "first frame"], ["End", "End", "last frame"], ["c", "C", "next colour"], ["f", "F", "forces"],
  ["s", "S", "stick and slip of forces"], ["g", "G", "grains: solid, faint, hidden"], ["w", "W", "walls"], ["l", "L", "plots"],
  ["r", "R", "whole view again"], ["p", "P", "save a picture"], ["t", "T", "light, dark"], ["m", "M", "menu"],
  ["Escape", "Esc", "let the grain go"], ["?", "?", "this help"],
];

export function listen(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const typing = event.target.matches("select, input[type=text]");
    if (!actions[key] || (typing && key !== "Escape")) return;
    event.preventDefault();
    actions[key]();
  });
}

export function fillHelp(place) {
  place.replaceChildren(
    ...KEYS.flatMap(([, key, what]) => {
      const [term, told] = [document.createElement("dt"), document.createElement("dd")];
      term.append(Object.assign(document.createElement("kbd"), { textContent: key }));
      told.textContent = what;
      return [term, told];
    }),
  );
}
