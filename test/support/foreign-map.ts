/** Register images of devices of other makers: older models, vendor models, and mistakes of real devices. */
import { buildLayout } from '../../src/sunspec/map/layout.ts';
import type { Layout, ModelChoice } from '../../src/sunspec/map/layout.ts';
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';
import { writePoint } from '../../src/sunspec/map/view.ts';
import { m1 } from '../../src/sunspec/models/m001.ts';
import { m103 } from '../../src/sunspec/models/m103.ts';
import { m120 } from '../../src/sunspec/models/m120.ts';
import { m123 } from '../../src/sunspec/models/m123.ts';
import { m160 } from '../../src/sunspec/models/m160.ts';

export interface ForeignMap {
  readonly layout: Layout;
  readonly image: Buffer;
}

/** An image with some points set. */
export function imageOf(
  choices: readonly ModelChoice[],
  values: Readonly<Record<string, AnyPointValue>>,
  base?: number,
): ForeignMap {
  const layout = buildLayout(choices, base);
  const image = layout.blank();
  for (const [name, value] of Object.entries(values)) {
    const dot = name.indexOf('.');
    const slot = layout.slot(Number(name.slice(0, dot)), name.slice(dot + 1));
    if (!slot) throw new Error(`no point ${name}`);
    writePoint(layout, image, slot, value);
  }
  return { layout, image };
}

const inputs = { ...m160, groups: m160.groups.map((group) => ({ ...group, count: 'N' })) };

/** A three-phase inverter from before the 700 series, with two DC inputs. */
export function oldInverter(base?: number): ForeignMap {
  return imageOf(
    [
      { def: m1 },
      {
        def: m103,
        scale: {
          A_SF: -2,
          V_SF: -1,
          W_SF: 0,
          Hz_SF: -2,
          VA_SF: 0,
          VAr_SF: 0,
          PF_SF: -2,
          WH_SF: 0,
          DCA_SF: -2,
          DCV_SF: -1,
          DCW_SF: 0,
          Tmp_SF: -1,
        },
      },
      {
        def: m120,
        scale: { WRtg_SF: 1, VARtg_SF: 1 },
        omit: new Set(
          m120.points.map(({ name }) => name).filter((name) => /^(VArRtg|ARtg|PFRtg|WHRtg|AhrRtg|Max)/.test(name)),
        ),
      },
      { def: m123, scale: { WMaxLimPct_SF: 0, OutPFSet_SF: -2, VArPct_SF: 0 } },
      { def: inputs, counts: { N: 2 }, scale: { DCA_SF: -2, DCV_SF: -1, DCW_SF: 0, DCWH_SF: 0 } },
    ],
    {
      '1.Mn': 'Acme',
      '1.Md': 'Sunny 10',
      '1.Vr': '3.1',
      '1.SN': 'A-1',
      '103.A': 21.5,
      '103.AphA': 7.16,
      '103.PPVphAB': 400.2,
      '103.PhVphA': 231,
      '103.W': 4950,
      '103.Hz': 50.01,
      '103.VA': 4960,
      '103.VAr': -310,
      '103.PF': 99.8,
      '103.WH': 1_234_567,
      '103.DCV': 612.3,
      '103.DCW': 5100,
      '103.St': 'MPPT',
      '120.DERTyp': 'PV',
      '120.WRtg': 10_000,
      '120.VARtg': 10_000,
      '123.WMaxLimPct': 100,
      '123.WMaxLim_Ena': 'DISABLED',
      '123.Conn': 'CONNECT',
      '160.module[0].DCW': 2600,
      '160.module[1].DCW': 2500,
      '160.module[0].IDStr': 'East',
      '160.module[0].DCV': 612.3,
    },
    base,
  );
}

/** A copy of an image with raw registers set. */
export function patched({ layout, image }: ForeignMap, address: number, ...registers: readonly number[]): ForeignMap {
  const copy = Buffer.from(image);
  registers.forEach((register, i) => copy.writeUInt16BE(register, (address - layout.base + i) * 2));
  return { layout, image: copy };
}

/** Inserts registers between a model and the next. */
export function widened({ layout, image }: ForeignMap, behind: number, count: number, value = 0): ForeignMap {
  const at = (behind - layout.base) * 2;
  const filler = Buffer.alloc(count * 2);
  for (let i = 0; i < count; i += 1) filler.writeUInt16BE(value, i * 2);
  return { layout, image: Buffer.concat([image.subarray(0, at), filler, image.subarray(at)]) };
}
