import pg from 'pg';

let made = 0;

/** Creates a database on the same server; returns its address. */
export async function newDatabase(url: string): Promise<string> {
  const name = `growth_${process.pid}_${++made}`;
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}
