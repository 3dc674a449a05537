import temml from 'temml';

const expansionsMax = 1_000;
/** Larger lengths are cut to it: in em, and in points. */
const sizeMax: [number, number] = [20, 200];
const partsMax = 3_000;
const depthMax = 60;
/** What defines macros could grow without end. */
const defines =
  /\\(?:[gex]?def|(?:future)?let|global|long|(?:re|provide)?newcommand|provide|renew|operatorname@)/i;

/**
 * The formula as MathML that hangs nowhere yet. Undefined: it has an error, defines macros, or is
 * larger than a reader could want.
 */
export function drawn(tex: string, display: boolean): Element | undefined {
  if (defines.test(tex)) return undefined;
  const box = document.createElement('span');
  try {
    temml.render(tex, box, {
      displayMode: display,
      throwOnError: true,
      strict: false,
      trust: false,
      maxExpand: expansionsMax,
      maxSize: sizeMax,
    });
  } catch {
    return undefined; // its source is shown
  }
  const [math] = box.children;
  return math !== undefined && fits(math) ? math : undefined;
}

/** Few parts, and not nested deep. */
function fits(math: Element): boolean {
  let level: readonly Element[] = [math];
  let parts = 0;
  for (let depth = 0; level.length > 0; depth++) {
    parts += level.length;
    if (depth > depthMax || parts > partsMax) return false;
    level = level.flatMap((element) => [...element.children]);
  }
  return true;
}
