/**
 * Joins tables of several devices, with the device as first column. Kinds of devices differ in metrics, so cells may be
 * empty.
 */
export function joinedCsv(tables: readonly (readonly [device: number, text: string])[]): string {
  const split = tables.map(([device, text]) => {
    // cells of the history are numbers and single words, without quotes
    const [head = '', ...lines] = text.trimEnd().split(/\r?\n/);
    return { device, names: head.split(','), lines };
  });
  const names = [...new Set(split.flatMap((table) => table.names))];
  const rows = split.flatMap(({ device, names: own, lines }) => {
    const places = names.map((name) => own.indexOf(name));
    return lines.map((line) => {
      const cells = line.split(',');
      return [device, ...places.map((place) => cells[place] ?? '')].join(',');
    });
  });
  return `${['device_index', ...names].join(',')}\n${rows.map((row) => `${row}\n`).join('')}`;
}
