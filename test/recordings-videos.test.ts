import { expect, it } from 'vitest';
import { isTaskFault } from '../src/providers/task-adapter.ts';
import { vendors } from '../src/providers/index.ts';
import { replays } from './replay.ts';
import { recordingsAt, recordingsFolder } from './recorded-traffic.ts';

const at = (endpoint: string) =>
  recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, endpoint);
const suite = replays('video');
const veo =
  /^https:\/\/generativelanguage\.googleapis\.com\/v1beta(\/models\/([^/]+)\/operations\/[^/?]+)$/;
const file =
  /^https:\/\/generativelanguage\.googleapis\.com\/v1beta(\/files\/[^/]+:download\?alt=media)$/;

it.runIf(recordingsFolder !== undefined)(
  'recorded polls are asked as they were, and mean what they meant',
  () => {
    const found: string[] = [];
    suite.each('polls', at('video'), ({ url, reply }) => {
      const [, path = '', upstreamModel = ''] = veo.exec(url) ?? [];
      if (path === '') return false;
      const adapter = vendors.get('gemini')?.adapters.video;
      if (adapter === undefined) throw new Error('no videos');
      const task = { upstreamId: path.slice(1), upstreamModel, seconds: 4 };
      expect(adapter.poll(task)).toMatchObject({ method: 'GET', path });
      const polled = adapter.readPoll(reply, task);
      if (isTaskFault(polled)) throw new Error(polled.message);
      const done = /"done": true/.test(reply.toString('utf8'));
      expect(polled.state).toBe(done ? 'completed' : 'running');
      if (polled.state === 'completed' && polled.file.kind === 'path') found.push(polled.file.path);
      return true;
    });
    suite.each('files', at('files'), ({ url, status, headers }) => {
      const [, path = ''] = file.exec(url) ?? [];
      if (path === '') return false;
      // The file lies elsewhere on the same host, which is shown the key again.
      expect(found).toContain(path);
      expect([status, new URL(String(headers['location'])).host]).toEqual([302, new URL(url).host]);
      return true;
    });
  },
);
