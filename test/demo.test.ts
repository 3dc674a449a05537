import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { startDemo } from './support/demo-terminal.ts';

test('the console of the demo knows where its orders are paid', async () => {
  const { demo, url } = await startDemo();
  onTestFinished(async () => {
    demo.kill('SIGTERM');
    await once(demo, 'exit');
  });
  const answer = await fetch(`${url}/console/api/session`);
  const session: { features: { demo_wallets: string } } = JSON.parse(await answer.text());
  expect(session).toMatchObject({ features: { demo: true } });
  expect((await fetch(session.features.demo_wallets)).status).toBe(200);
});
