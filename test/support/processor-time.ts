/** Milliseconds of this process's processor time so far: other work on the machine adds nothing. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
