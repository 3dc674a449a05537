import { dayFrom } from '../../format/day.ts';

/** The zone of the bills of both payment services. */
const billZone = 'Asia/Shanghai';
/** A day's bill is published by 10:30 of the next day. */
const publishedAfterDays = 10.5 / 24;

/** The last day that is over. */
export const lastDayOver = (nowMs: number): string => dayFrom(nowMs, -1, billZone);

/** The last day whose bill is published. */
export const lastBilledDay = (nowMs: number): string =>
  dayFrom(nowMs, -1 - publishedAfterDays, billZone);
