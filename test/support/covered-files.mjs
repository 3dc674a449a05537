// `--import` of this makes each thread of a Node process count the functions it runs. At each SIGUSR2 every thread appends a line of JSON to COVERED_FILE:
// the functions that ran since the signal before, as [script URL, offset, name].
import { appendFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const take = () =>
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error;
    const ran = coverage.result.flatMap(({ url, functions }) =>
      functions
        .filter(({ ranges }) => ranges[0].count > 0)
        .map(({ functionName, ranges }) => [url, ranges[0].startOffset, functionName]),
    );
    appendFileSync(process.env.COVERED_FILE, `${JSON.stringify(ran)}\n`);
  });

const channel = new BroadcastChannel('covered-files');
channel.unref();
if (isMainThread)
  process.on('SIGUSR2', () => {
    channel.postMessage('take');
    take();
  });
else channel.onmessage = take;
