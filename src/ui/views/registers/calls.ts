/** The register map of a device, or of the meter of the connection point. */
import { get, post } from '../../api/call';
import type { Call, ReplyOf } from '../../api/call';

export type Model = ReplyOf<'registers'>['models'][number];
export type Registers = ReplyOf<'registers/{model_id}'>;
export type RegisterPoint = Registers['points'][number];
/** Index of a device, or the meter. */
export type Owner = number | 'site';

export function modelsCall(owner: Owner): Call<{ readonly models: readonly Model[] }> {
  return owner === 'site' ? get('site/registers') : get('registers', { query: { device: owner } });
}

export function pointsCall(owner: Owner, model: number): Call<Registers> {
  const params = { model_id: model };
  return owner === 'site'
    ? get('site/registers/{model_id}', { params, query: { raw: true } })
    : get('registers/{model_id}', { params, query: { device: owner, raw: true } });
}

export function writeCall(device: number, model: number, points: Readonly<Record<string, string>>): Call {
  const values = Object.fromEntries(Object.entries(points).map(([name, text]) => [name, valueOf(text)]));
  return post('registers/{model_id}', { params: { model_id: model }, query: { device }, body: { points: values } });
}

/** A number, also as `0x1f`, otherwise the name of a symbol; `null` clears a point of a stored curve. */
function valueOf(text: string): string | number | null {
  const plain = text.trim();
  if (plain === 'null') return null;
  return plain !== '' && Number.isFinite(Number(plain)) ? Number(plain) : plain;
}
