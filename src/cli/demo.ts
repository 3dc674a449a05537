import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Env } from '../base/env.ts';
import { simConfig } from '../../sim/catalog.ts';
import { type Sim, startSim } from '../../sim/index.ts';
import { signinVariables } from '../../sim/signin/apps.ts';
import { createKey } from '../accounts/keys.ts';
import { systemClock } from '../base/clock.ts';
import { nanoPerYuan } from '../base/money.ts';
import { sampleModel } from '../catalog/sample-model.ts';
import { credit } from '../ledger/ledger.ts';
import { type Gateway, openGateway } from '../app/gateway.ts';
import { enrol } from '../signin/enrol.ts';
import type { SigninSettings } from '../signin/settings.ts';
import { defaultPort, gatewayOptions, type ServeOptions } from './gateway-options.ts';
import { print } from './command-io.ts';
import { paint, paintMoney } from './terminal.ts';
import { shellWord, thisCommand } from './command-word.ts';
import { demoRef } from './demo-ref.ts';
import { chatCall, linkSpan } from './serve-lines.ts';
import {
  openPagesSoon,
  orFail,
  readConfigurationText,
  signInLink,
  stopOnSignal,
  warnOfDifferences,
} from './serve.ts';

const yuanToStart = 100n;
const portsAbove = 10;
const highestPort = 65_535;
const demoName = 'demo';

interface DemoOptions extends ServeOptions {
  /** Also sells models that fail on purpose. */
  readonly faults?: true;
}

/** Runs everything for a first look, offline, in a folder of its own that is deleted at the end. */
export async function demo(options: DemoOptions, env: Env): Promise<void> {
  const folder = options.data ?? mkdtempSync(join(tmpdir(), 'tollgate-demo-'));
  const simulator = await simulated(options.port ?? defaultPort);
  const configuration = orFail(
    await readConfigurationText(simConfig(simulator.url, [], options.faults === true), {}),
    'the demo',
  );
  // The operator's database must not get the demo's users, nor the operator's bucket their files.
  const sealed = {
    ...env,
    DATABASE_URL: undefined,
    MEDIA_URL: undefined,
    ...signinVariables(simulator.url),
  };
  const leave = async (): Promise<void> => {
    await simulator.close();
    if (options.data === undefined) rmSync(folder, { recursive: true, force: true });
  };
  const wallets = `${simulator.url}/wallets`;
  let gateway: Gateway;
  let signin: SigninSettings | undefined;
  try {
    const wanted = await gatewayOptions(
      { ...options, data: folder },
      { ...configuration, seed: true, payments: simulator.wallets.settings },
      sealed,
    );
    signin = wanted.signin;
    gateway = await openGateway({ ...wanted, demo: { wallets } });
    warnOfDifferences(gateway, wanted.publicModels);
  } catch (error) {
    await leave();
    throw error;
  }
  stopOnSignal(gateway, leave);
  openPagesSoon(gateway);
  const { userId, key } = await demoKey(gateway);
  const link = await signInLink(gateway, signin, sealed);
  const { url } = gateway;
  const model = sampleModel(configuration.models) ?? '';
  const port = Number(new URL(url).port);
  const more = `--data ${shellWord(folder)}`;
  const anew = `link --user ${userId} ${more}${port === defaultPort ? '' : ` --port ${port}`}`;
  print(options, { url, key, console: `${url}/`, model, link, wallets }, [
    welcome({ url, key, model, link, wallets, status: `status ${more}`, anew }),
  ]);
}

/**
 * Starts the simulator ten ports above the gateway, so that its address stays the same at the next
 * start; on another port if that is taken.
 */
async function simulated(gatewayPort: number): Promise<Sim> {
  const host = '127.0.0.1';
  const port =
    gatewayPort === 0 || gatewayPort > highestPort - portsAbove ? 0 : gatewayPort + portsAbove;
  return startSim({ host, port }).catch(() => startSim({ host, port: 0 }));
}

/** A user with money and a key. A demo that is kept gets one more at each start. */
async function demoKey({
  database,
}: Gateway): Promise<{ readonly userId: string; readonly key: string }> {
  const at = systemClock.now();
  const user = await database.transact(() => enrol(demoName, 'operator', at));
  await credit(database, {
    id: `grant_${user.id}`,
    account: user.id,
    from: 'grants',
    amount: yuanToStart * nanoPerYuan,
    code: 'grant',
    ref: demoRef,
    at,
  });
  const made = await database.transact(() =>
    createKey({
      userId: user.id,
      name: 'demo',
      group: 'default',
      limit: undefined,
      expiresAt: undefined,
      at,
    }),
  );
  if (made === undefined) throw new Error('the demo user is gone');
  return { userId: user.id, key: made.secret };
}

interface Welcome {
  readonly url: string;
  readonly key: string;
  /** The model of the printed example. */
  readonly model: string;
  readonly link: string | undefined;
  /** The page on which orders are paid. */
  readonly wallets: string;
  /** Commands on the demo's data: what it does now, and a new link. */
  readonly status: string;
  readonly anew: string;
}

function welcome({ url, key, model, link, wallets, status, anew }: Welcome): string {
  const word = thisCommand();
  return `
Tollgate listens on ${paint('bold', url)}
The vendors behind it are simulated; nothing leaves this machine.

  balance  ${paintMoney(`${yuanToStart}.00`)} yuan
  console  ${url}/
           Sign in with the simulated providers, or as the operator, once, within ${linkSpan}:
           ${link ?? ''}
  wallet   ${wallets}
           This page stands for a phone: pay your top-ups on it.

Commands reach this demo's data with --data, in another terminal, while it runs:

${word} ${status}
${word} ${anew}

${paint('bold', 'Paste into another terminal')}:

export OPENAI_BASE_URL=${url}/v1
export OPENAI_API_KEY=${key}
export ANTHROPIC_BASE_URL=${url}
export ANTHROPIC_AUTH_TOKEN=${key}
export TOLLGATE_URL=${url}
export TOLLGATE_API_KEY=${key}

${paint('bold', 'Then ask a model')}:

${chatCall('$OPENAI_BASE_URL', 'OPENAI_API_KEY', model)}

Ctrl-C stops it. TOLLGATE_LOG=info logs each request here. A vendor's key in the environment of this
terminal, such as OPENAI_API_KEY, makes the same command serve that vendor's models.
`;
}
