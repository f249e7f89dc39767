import { classicControlProcedures, classicDuts, classicProcedures } from '../conformance/classic.ts';
import { curveEffectProcedures } from '../conformance/curve-effects.ts';
import { curveProcedures } from '../conformance/curves.ts';
import { addressProcedures, interfaceProcedures } from '../conformance/interface.ts';
import { modelProcedures } from '../conformance/models.ts';
import { reversionProcedures } from '../conformance/reversion.ts';
import { settingProcedures } from '../conformance/settings.ts';
import { describeWith } from './support/peers.ts';
import { pseudoTerminal } from './support/pseudo-terminal.ts';

describeWith(['socat'], 'conformance procedures on a serial port', () => {
  interfaceProcedures(pseudoTerminal);
  addressProcedures(pseudoTerminal);
  modelProcedures(pseudoTerminal, ['PV-3Phase']);
  settingProcedures(pseudoTerminal, ['PV-3Phase']);
  classicProcedures(pseudoTerminal, classicDuts.slice(0, 2));
  classicControlProcedures(pseudoTerminal);
  curveProcedures(pseudoTerminal);
  curveEffectProcedures(pseudoTerminal);
  reversionProcedures(pseudoTerminal, 'PV-3Phase');
});
