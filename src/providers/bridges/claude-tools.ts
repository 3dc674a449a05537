import type { JsonObject } from '../wire/json.ts';

/**
 * Tools that clients run, and whose schema only Claude knows, since Anthropic has trained it:
 * requests do not hold the schema, and other models are sent this one
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool, /text-editor-tool,
 * /memory-tool, 2026-11). A type ends in a date, which the patterns leave open.
 */
const schemas: readonly (readonly [RegExp, string, JsonObject])[] = [
  [
    /^bash_\d+$/,
    'Runs a command in a shell that keeps its state between calls.',
    {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          description: 'The command to run. Required unless the shell is restarted.',
        },
        restart: { type: 'boolean', description: 'True: the shell is started anew.' },
      },
    },
  ],
  [
    /^text_editor_\d+$/,
    'Views, creates and edits text files.',
    {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          enum: ['view', 'create', 'str_replace', 'insert'],
          description: 'What to do.',
        },
        path: { type: 'string', description: 'The path of the file or folder.' },
        view_range: {
          type: 'array',
          items: { type: 'integer' },
          description:
            'view: the first and the last line, counted from 1; -1 is the end of the file.',
        },
        file_text: { type: 'string', description: 'create: the content of the file.' },
        old_str: {
          type: 'string',
          description: 'str_replace: the text to replace, which must occur exactly once.',
        },
        new_str: { type: 'string', description: 'str_replace: the new text.' },
        insert_line: {
          type: 'integer',
          description: 'insert: the line after which the text is inserted; 0 is the beginning.',
        },
        insert_text: { type: 'string', description: 'insert: the text to insert.' },
      },
      required: ['command', 'path'],
    },
  ],
  [
    /^memory_\d+$/,
    'Keeps notes in files under /memories, which stay from one conversation to the next. View the folder before you begin.',
    {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
          description: 'What to do.',
        },
        path: { type: 'string', description: 'The path under /memories; for rename see old_path.' },
        view_range: {
          type: 'array',
          items: { type: 'integer' },
          description: 'view: the first and the last line of a file.',
        },
        file_text: { type: 'string', description: 'create: the content of the file.' },
        old_str: { type: 'string', description: 'str_replace: the text to replace.' },
        new_str: { type: 'string', description: 'str_replace: the new text.' },
        insert_line: {
          type: 'integer',
          description: 'insert: the line at which the text is inserted.',
        },
        insert_text: { type: 'string', description: 'insert: the text to insert.' },
        old_path: { type: 'string', description: 'rename: the path as it is.' },
        new_path: { type: 'string', description: 'rename: the path as it is to be.' },
      },
      required: ['command'],
    },
  ],
];

/** Description and schema of such a tool; undefined for any other. */
export function claudeTool(
  type: unknown,
): { readonly description: string; readonly schema: JsonObject } | undefined {
  const found = schemas.find(([types]) => types.test(String(type)));
  return found && { description: found[1], schema: found[2] };
}

/**
 * Whether the tool searches for tools that are loaded later. Other models get all tools at once,
 * and no search.
 */
export const isToolSearch = ({ type }: JsonObject): boolean =>
  String(type).startsWith('tool_search_tool_');
