/** Settings of the process, its certificates, and the lab as a file. */
import type { ComponentType } from 'preact';
import { Parts } from '../../kit/choices';
import { ViewHead } from '../../kit/tabs';
import { param } from '../../store/route';
import { Certificates } from './certificates';
import { SettingsForm } from './form';
import { LabFile } from './lab-file';

const parts: readonly { readonly name: string; readonly title: string; readonly component: ComponentType }[] = [
  { name: 'all', title: 'Settings', component: SettingsForm },
  { name: 'certificates', title: 'Certificates', component: Certificates },
  { name: 'file', title: 'Lab as a file', component: LabFile },
];

export default function Settings() {
  const part = parts.find(({ name }) => name === param('settings-part')) ?? parts[0];
  const Part = part?.component;
  return (
    <>
      <ViewHead title="Settings">
        <Parts label="Parts of the settings" name="settings-part" parts={parts} chosen={part?.name} />
      </ViewHead>
      {Part && <Part />}
    </>
  );
}
