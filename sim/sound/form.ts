/** A form, parsed by hand from the whole body. */
export interface SentForm {
  /** In order; the file is among them with an empty value. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly file: Buffer | undefined;
  readonly fileField: string;
  readonly fileType: string;
}

/** Undefined when the body is no form, or a truncated one. */
export function readForm(contentType: string, body: Buffer): SentForm | undefined {
  const boundary = /^multipart\/form-data;.*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const mark = boundary && `--${boundary[1] ?? boundary[2]}`;
  if (!mark || body.lastIndexOf(`${mark}--`) < 0) return undefined;
  const fields: [string, string][] = [];
  let file: Buffer | undefined;
  let [fileField, fileType] = ['', ''];
  for (let at = body.indexOf(mark); ; ) {
    const start = at + mark.length + 2;
    const next = body.indexOf(`\r\n${mark}`, start);
    const headEnd = body.indexOf('\r\n\r\n', start);
    if (next < 0 || headEnd < 0 || headEnd > next) break;
    const head = body.toString('utf8', start, headEnd);
    const content = body.subarray(headEnd + 4, next);
    const name = /\bname="([^"]*)"/i.exec(head)?.[1] ?? '';
    const isFile = /\bfilename="/i.test(head);
    if (isFile) {
      file = content;
      fileField = name;
      fileType = /content-type:\s*(\S+)/i.exec(head)?.[1] ?? '';
    }
    fields.push([name, isFile ? '' : content.toString('utf8')]);
    at = next + 2;
  }
  return { fields, file, fileField, fileType };
}
