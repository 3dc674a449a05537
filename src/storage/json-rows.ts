import type { Database } from './database.ts';

/** How a column that holds a JSON array of arrays is read as rows. */
export interface JsonRows {
  /** To be joined: one row for each inner array. */
  readonly from: string;
  /** The inner array's item at `index`, as text or as a number. */
  text(index: number): string;
  number(index: number): string;
}

export function jsonRows({ dialect }: Pick<Database, 'dialect'>, column: string): JsonRows {
  return dialect === 'postgres'
    ? {
        from: `jsonb_array_elements(${column}::jsonb) AS j(value)`,
        text: (index) => `(j.value->>${index})`,
        number: (index) => `CAST(j.value->>${index} AS NUMERIC)`,
      }
    : {
        from: `json_each(${column}) AS j`,
        text: (index) => `json_extract(j.value, '$[${index}]')`,
        number: (index) => `json_extract(j.value, '$[${index}]')`,
      };
}
