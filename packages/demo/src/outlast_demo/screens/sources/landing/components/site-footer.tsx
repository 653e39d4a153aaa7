import { ArrowRight } from "lucide-react";

import { Button } from "@/components/ui/button";
import { Separator } from "@/components/ui/separator";

const columns = [
  { title: "Product", links: ["Planning", "Notebook", "Decisions", "What is new"] },
  { title: "Company", links: ["About", "Careers", "Press"] },
  { title: "Help", links: ["Guides", "Status", "Contact"] },
];

export function SiteFooter() {
  return (
    <footer className="mx-auto max-w-6xl px-6 pb-10">
      <div className="relative isolate overflow-hidden rounded-3xl border bg-card px-8 py-16 text-center sm:py-20">
        <div
          aria-hidden="true"
          className="absolute inset-0 -z-10 bg-[radial-gradient(50%_90%_at_50%_110%,color-mix(in_oklab,var(--primary)_45%,transparent),transparent)]"
        />
        <h2 className="text-3xl font-semibold tracking-tight sm:text-5xl">Start the week with a clear desk</h2>
        <p className="mx-auto mt-4 max-w-md text-muted-foreground">
          Free for teams of five. Setting up takes as long as making tea.
        </p>
        <Button size="lg" className="mt-8">
          Start free
          <ArrowRight />
        </Button>
      </div>
      <div className="mt-16 grid grid-cols-2 gap-8 text-sm sm:grid-cols-[2fr_1fr_1fr_1fr]">
        <p className="col-span-2 max-w-xs text-muted-foreground sm:col-span-1">
          Driftwood is made by nine people in three towns by the sea.
        </p>
        {columns.map((column) => (
          <div key={column.title}>
            <p className="font-medium">{column.title}</p>
            <ul className="mt-3 grid gap-2 text-muted-foreground">
              {column.links.map((link) => (
                <li key={link}>
                  <a href="#top" className="transition-colors hover:text-foreground">
                    {link}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
      <Separator className="my-8" />
      <p className="text-xs text-muted-foreground">© 2026 Driftwood. Names and numbers on this page are made up.</p>
    </footer>
  );
}
