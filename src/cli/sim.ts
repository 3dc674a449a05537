import { startSim } from '../../sim/index.ts';
import { print, type SharedOptions } from './command-io.ts';

const defaultPort = 8_090;

export async function sim(
  options: SharedOptions & { readonly port?: number; readonly host: string },
): Promise<void> {
  const simulator = await startSim({ host: options.host, port: options.port ?? defaultPort });
  const stop = (): void => void simulator.close().then(() => process.exit(0));
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const { url } = simulator;
  print(options, { url }, [
    `the simulated vendors listen on ${url}; each under its own prefix, such as ${url}/openai/v1`,
  ]);
}
