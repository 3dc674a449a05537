import type { Body } from './chat.ts';
import { type Sample, needsFiles, pythonStart, typescriptStart } from './client.ts';
import { curlJson, python, typescript, written } from './written.ts';

/** Seconds between two polls, as the API advises by the video's length. */
const pollSeconds = (duration: number): number => (duration <= 10 ? 5 : 15);

/** A video: submits the task, then polls until it is done. */
export function videoSample(baseUrl: string, body: Body): Sample {
  const pause = pollSeconds(Number(body['duration'] ?? 5));
  const address = `${baseUrl}/v1/video/generations`;
  return {
    curl: [
      `id=$(${curlJson(address, body, '-s ')}\n)`,
      `id=$(printf %s "$id" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')`,
      '',
      'while :; do',
      `  task=$(curl -sS "${address}/$id" -H "Authorization: Bearer $TOLLGATE_API_KEY") || break`,
      '  case $task in *\'"completed"\'* | *\'"failed"\'* | *\'"error"\'*) break ;; esac',
      `  sleep ${pause}`,
      'done',
      'echo "$task"',
    ].join('\n'),
    python: [
      pythonStart(baseUrl, { ...needsFiles(body), sleeps: true }),
      '',
      `task = client.post("/video/generations", cast_to=object, body=${written(body, python)})`,
      'while task["status"] not in ("completed", "failed"):',
      `    time.sleep(${pause})`,
      '    task = client.get(f"/video/generations/{task[\'id\']}", cast_to=object)',
      'print(task.get("video_url") or task.get("error"))',
    ].join('\n'),
    typescript: [
      typescriptStart(baseUrl, needsFiles(body)),
      '',
      'interface Task {',
      '  id: string;',
      '  status: string;',
      '  video_url?: string;',
      '  error?: string;',
      '}',
      '',
      `let task = await client.post<Task>('/video/generations', { body: ${written(body, typescript)} });`,
      "while (task.status !== 'completed' && task.status !== 'failed') {",
      `  await new Promise((resolve) => setTimeout(resolve, ${pause * 1000}));`,
      '  task = await client.get<Task>(`/video/generations/${task.id}`);',
      '}',
      'console.log(task.video_url ?? task.error);',
    ].join('\n'),
  };
}
