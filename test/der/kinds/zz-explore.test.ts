import { KindRig } from './support.ts';
it('x', async () => {
 for (const [args, rated] of [[['-d', 'Wind-T3-3Phase'], 12.1], [['-d', 'Wind-T4-3Phase'], 0], [['-d', 'Wind-T4-3Phase', '-f', 'Wind-100kW-T4-3Phase'], 0]] as const)
 for (const turb of ['none', 'B'] as const)
  for (const wind of [9, 12, 15, 20]) {
   const out: string[] = [];
   for (const pct of [60, 40, 10, 0]) {
    const rig = new KindRig({ args, wind: { turbulenceClass: turb } });
    if (turb === 'none') { rig.command({ kind: 'wind.override', speedMS: wind, height: 'hub' }); await rig.watch(120, 5, () => undefined); }
    else await rig.watch(120, 5, () => undefined);
    const before = rig.detail('wind').rotorRpm; const r = rated || 0;
    rig.limit(pct);
    let most = 0; let alarm = ''; let maxp = 0;
    await rig.watch(90, 0.5, () => { const d = rig.detail('wind'); most = Math.max(most, d.rotorRpm); maxp = Math.max(maxp, d.pitchDeg); if (rig.alarms.length) alarm = rig.alarms.join(); });
    const end = rig.detail('wind').rotorRpm;
    out.push(`${pct}%: peak ${(most / (r || before)).toFixed(3)} end ${(end / (r||before)).toFixed(3)} ${maxp.toFixed(1)}${alarm && '!' + alarm}`);
   }
   console.log(args.at(-1), turb, wind, out.join(' | '));
  }
}).timeout(100000);
