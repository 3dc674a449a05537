// `--import` of this makes a Node process cost more by the share in MORE_WORK: it proves that the
// gate notices.
import { isMainThread } from 'node:worker_threads';

const share = Number(process.env.MORE_WORK);
const everyMs = 2;
const processorUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

if (isMainThread && share > 0) {
  let counted = processorUs();
  setInterval(() => {
    const until = processorUs() + (processorUs() - counted) * share;
    while (processorUs() < until);
    counted = processorUs();
  }, everyMs).unref();
}
