/** A chat request for a terminal. The key is an environment variable: pages never hold one. */
export function curlSample(baseUrl: string, model: string): string {
  return [
    `curl ${baseUrl}/v1/chat/completions \\`,
    '  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] })}'`,
  ].join('\n');
}
