/**
 * Announces a text to screen readers, at most once in two seconds and then the latest. The live
 * region is in the page from the start.
 */
export function announce(text: string): void {
  latest = text;
  timer ??= setTimeout(speak, 0);
}

export const announcerId = 'announcer';
const quietMs = 2000;
let latest: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

function speak(): void {
  timer = undefined;
  if (latest === undefined) return;
  const region = document.getElementById(announcerId);
  if (region !== null) region.textContent = latest;
  latest = undefined;
  timer = setTimeout(speak, quietMs);
}
