import { startSim } from '../../sim/index.ts';

const defaultPort = 8_090;

export async function sim(options: { readonly port?: number; readonly host: string; readonly json?: true }): Promise<void> {
  const simulator = await startSim({ host: options.host, port: options.port ?? defaultPort });
  console.log(
    options.json === true
      ? JSON.stringify({ url: simulator.url })
      : `the simulated vendors listen on ${simulator.url}; each under its own prefix, such as ${simulator.url}/openai/v1`,
  );
  const stop = (): void => void simulator.close().then(() => process.exit(0));
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
