/** The procedures that `npm test` runs over TCP alone, over the other lines of this process. */
import { curveEffectProcedures } from '../conformance/curve-effects.ts';
import { curveProcedures } from '../conformance/curves.ts';
import { reversionProcedures } from '../conformance/reversion.ts';
import { settingProcedures } from '../conformance/settings.ts';
import { lines, tcp } from '../support/conformance/bed.ts';

for (const line of lines) {
  if (line === tcp) continue;
  settingProcedures(line, ['PV-3Phase']);
  curveProcedures(line);
  curveEffectProcedures(line);
  reversionProcedures(line, 'PV-3Phase');
}
