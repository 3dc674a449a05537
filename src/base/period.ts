/** A day or a month of the operator's, as limits count them. `offsetMinutes` east of Greenwich. */
export interface Period {
  /**
   * `2026-11-21+08:00` or `2026-11+08:00`: tells its bounds by itself, whatever is configured
   * later.
   */
  readonly name: string;
  /** Wall clock, ms; `to` is the next one's beginning. */
  readonly from: number;
  readonly to: number;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

export function dayOf(at: number, offsetMinutes: number): Period {
  const shift = offsetMinutes * minuteMs;
  const from = Math.floor((at + shift) / dayMs) * dayMs;
  return {
    name: new Date(from).toISOString().slice(0, 10) + offsetText(offsetMinutes),
    from: from - shift,
    to: from - shift + dayMs,
  };
}

export function monthOf(at: number, offsetMinutes: number): Period {
  const shift = offsetMinutes * minuteMs;
  const local = new Date(at + shift);
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  const name = local.toISOString().slice(0, 7) + offsetText(offsetMinutes);
  return { name, from: Date.UTC(year, month) - shift, to: Date.UTC(year, month + 1) - shift };
}

/**
 * The period that has this name; without an offset it is Greenwich's. Undefined when it is no name
 * of one.
 */
export function periodNamed(name: string): Period | undefined {
  const parts = /^(\d{4}-\d{2})(-\d{2})?([+-]\d{2}:\d{2})?$/.exec(name);
  if (parts === null) return undefined;
  const [, month = '', day, offset = '+00:00'] = parts;
  const offsetMinutes = offsetOf(offset);
  const at = Date.parse(`${month}${day ?? '-01'}T00:00:00${offset}`);
  if (offsetMinutes === undefined || Number.isNaN(at)) return undefined;
  return day === undefined ? monthOf(at, offsetMinutes) : dayOf(at, offsetMinutes);
}

/** Minutes of `+08:00`; undefined when it is no such text. */
export function offsetOf(text: string): number | undefined {
  const parts = /^([+-])(0\d|1[0-4]):([0-5]\d)$/.exec(text);
  if (parts === null) return undefined;
  const minutes = Number(parts[2]) * 60 + Number(parts[3]);
  return parts[1] === '-' ? -minutes : minutes;
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
