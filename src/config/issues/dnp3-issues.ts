/** DNP3: whether its files fit. */
import { maxPointsFileBytes, readDnp3Points } from '../../contract/dnp3-points.ts';
import type { Issue } from '../../core/errors.ts';
import { fileReason } from '../../core/text-file.ts';
import type { Gathered } from '../layers/gather.ts';

/** Issues of the point map. */
export function dnp3PointsIssues({ values, io, originOf }: Gathered): Issue[] {
  const { dnp3_points: path } = values;
  if (!values.dnp3_enable || path === null || !io.isFile(path)) return [];
  const name = originOf('dnp3_points');
  try {
    const read = readDnp3Points(io.readFile(path, maxPointsFileBytes));
    return typeof read === 'string' ? [{ name, detail: `${path}: ${read}` }] : [];
  } catch (error) {
    return [{ name, detail: `${path}: cannot be read: ${fileReason(error)}` }];
  }
}
