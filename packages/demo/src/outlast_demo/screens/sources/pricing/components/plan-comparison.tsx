import { Check, Minus } from "lucide-react";

import { Card } from "@/components/ui/card";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";

type Value = string | boolean;

const rows: { name: string; values: [Value, Value, Value] }[] = [
  { name: "Projects", values: ["3", "Unlimited", "Unlimited"] },
  { name: "People", values: ["1", "Up to 25", "Unlimited"] },
  { name: "Files", values: ["1 GB", "100 GB", "2 TB"] },
  { name: "Version history", values: ["7 days", "1 year", "Forever"] },
  { name: "Roles and guests", values: [false, true, true] },
  { name: "Single sign-on", values: [false, false, true] },
  { name: "Audit log", values: [false, false, true] },
];

function Mark({ value }: { value: Value }) {
  if (typeof value === "string") return <span className="tabular-nums">{value}</span>;
  return value ? (
    <Check className="mx-auto size-4 text-primary" aria-label="Included" />
  ) : (
    <Minus className="mx-auto size-4 text-muted-foreground/60" aria-label="Not included" />
  );
}

export function PlanComparison() {
  return (
    <section className="mx-auto mt-24 max-w-5xl">
      <h2 className="text-center text-2xl font-semibold tracking-tight sm:text-3xl">Side by side</h2>
      <Card className="mt-8 overflow-hidden py-0">
        <Table>
          <TableHeader>
            <TableRow className="bg-muted/40 hover:bg-muted/40">
              <TableHead className="h-14 pl-6 text-sm">What you get</TableHead>
              <TableHead className="text-center text-sm">Starter</TableHead>
              <TableHead className="text-center text-sm text-primary">Studio</TableHead>
              <TableHead className="text-center text-sm">House</TableHead>
            </TableRow>
          </TableHeader>
          <TableBody>
            {rows.map((row) => (
              <TableRow key={row.name}>
                <TableCell className="py-3.5 pl-6 font-medium">{row.name}</TableCell>
                {row.values.map((value, index) => (
                  <TableCell key={index} className="text-center text-muted-foreground">
                    <Mark value={value} />
                  </TableCell>
                ))}
              </TableRow>
            ))}
          </TableBody>
        </Table>
      </Card>
    </section>
  );
}
