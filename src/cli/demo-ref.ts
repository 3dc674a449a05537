/** The reference of the transfer that gives a demo's user money: it tells a demo's database. */
export const demoRef = 'demo';
