import { type Value, holdsFile } from './written.ts';

export const codeTabs = ['curl', 'python', 'typescript'] as const;
export type CodeTab = (typeof codeTabs)[number];

/** The same call three times. */
export type Sample = Readonly<Record<CodeTab, string>>;

/** How the samples open each SDK. The key is an environment variable: pages never hold one. */
export function pythonStart(baseUrl: string, { files = false, sleeps = false } = {}): string {
  return [
    ...(files ? ['import base64'] : []),
    'import os',
    ...(sleeps ? ['import time'] : []),
    '',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["TOLLGATE_API_KEY"])`,
    ...(files ? ['', '', pythonFile, ''] : []),
  ].join('\n');
}

export function typescriptStart(baseUrl: string, { files = false } = {}): string {
  return [
    ...(files ? ["import { readFileSync } from 'node:fs';"] : []),
    "import OpenAI from 'openai';",
    '',
    `const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: process.env.TOLLGATE_API_KEY });`,
    ...(files ? ['', typescriptFile] : []),
  ].join('\n');
}

export const needsFiles = (body: Value): { readonly files: boolean } => ({
  files: holdsFile(body),
});

const pythonFile = `def data_url(path, type):
    with open(path, "rb") as file:
        return f"data:{type};base64,{base64.b64encode(file.read()).decode()}"`;

const typescriptFile = `function dataUrl(path: string, type: string): string {
  return \`data:\${type};base64,\${readFileSync(path, 'base64')}\`;
}`;
