// Loaded into the gateway before anything else. The first SIGUSR2 starts counting allocations, the
// second writes the result. V8's own --heap-prof leaves out collected objects, which on a hot path
// are nearly all.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread } from 'node:worker_threads';

const file = process.env.ALLOCATIONS_FILE;
const sampleBytes = 16_384;

if (isMainThread && file !== undefined) {
  const session = new Session();
  session.connect();
  process.once('SIGUSR2', () => {
    const sampling = {
      samplingInterval: sampleBytes,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    };
    session.post('HeapProfiler.startSampling', sampling);
    process.once('SIGUSR2', () => {
      session.post('HeapProfiler.stopSampling', (error, answer) =>
        writeFileSync(file, JSON.stringify(error ?? answer.profile)),
      );
    });
  });
}
