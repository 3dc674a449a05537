import pg from 'pg';

/** Creates a separate database on a server; `drop` removes it. */
export async function ownDatabase(
  server: string,
  name: string,
): Promise<{ readonly url: string; drop(): Promise<void> }> {
  await onServer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
