/* Elements and numbers of the page. Texts are set as text, never as HTML. */
function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/* Numbers in the language of the page. */
class Formats {
  constructor(language) {
    this.language = language;
    this.share = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
    this.whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  }

  number(value, digits = 4) {
    if (!Number.isFinite(value)) return String(value);
    const size = Math.abs(value);
    if (size && (size >= 1e15 || size < 1e-5)) return value.toExponential(digits - 1);
    return new Intl.NumberFormat(this.language, { maximumSignificantDigits: size >= 10 ** digits ? 21 : digits, maximumFractionDigits: size >= 10 ** digits ? 0 : undefined }).format(value);
  }

  signed(value, digits = 3) {
    return (value < 0 ? "\u2212" : "+") + this.number(Math.abs(value), digits);
  }
}

/* A text of the page with its values filled in. */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
