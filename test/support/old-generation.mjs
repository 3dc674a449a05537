// `--import` of this makes a Node process write a line to OLD_FILE at each SIGUSR2: the size of its
// old generation, and the number of its collections.
import { appendFileSync } from 'node:fs';
import { PerformanceObserver, constants } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let collected = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries())
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collected += 1;
  });
  observer.observe({ entryTypes: ['gc'] });
  process.on('SIGUSR2', () => {
    // Objects that survive two of these are old.
    collect({ type: 'minor' });
    collect({ type: 'minor' });
    const bytes = getHeapSpaceStatistics()
      .filter(({ space_name: name }) => name === 'old_space' || name === 'map_space')
      .reduce((sum, { space_used_size: used }) => sum + used, 0);
    setTimeout(() => appendFileSync(process.env.OLD_FILE, `${bytes} ${collected}\n`), 50);
  });
}
