import type { Calendar } from './price-windows.ts';

/**
 * The calendars that every price may name. `cn-public-holidays`: the days off in mainland China in
 * 2026. Saturdays that are worked in exchange are not in it: vendors that price by weekdays count
 * them as Saturdays (State Council of China, 国办发明电, notice of November 2025; read in the price file
 * of dsh-meter, 2026-11-15).
 */
export const calendars: ReadonlyMap<string, Calendar> = new Map([
  [
    'cn-public-holidays',
    {
      name: 'cn-public-holidays',
      knownUntil: '2026-12-31',
      days: [
        ['2026-01-01', '2026-01-03'],
        ['2026-02-15', '2026-02-23'],
        ['2026-04-04', '2026-04-06'],
        ['2026-05-01', '2026-05-05'],
        ['2026-06-19', '2026-06-21'],
        ['2026-09-25', '2026-09-27'],
        ['2026-10-01', '2026-10-07'],
      ],
    },
  ],
]);
