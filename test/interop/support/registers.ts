import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';

/** The address of a point, from the HTTP interface. */
export async function addressOf(httpPort: number, model: number, path: string): Promise<number> {
  const { json } = await ask(httpPort, `/api/sim/registers/${model}`);
  const point = json.points.find(({ name }: Json) => name === path);
  if (!point) throw new Error(`model ${model} has no point ${path}`);
  return point.address;
}
