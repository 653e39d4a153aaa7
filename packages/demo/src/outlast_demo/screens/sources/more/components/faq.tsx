"use client";

import { Accordion, AccordionContent, AccordionItem, AccordionTrigger } from "@/components/ui/accordion";

const questions = [
  {
    question: "Can I try it before I pay?",
    answer: "Yes. You get every feature for 14 days, without a card. Then choose a plan, or stay on the free one.",
  },
  {
    question: "What happens to my data when I leave?",
    answer: "You take it with you: one button exports all of it. Thirty days later we permanently delete our copy.",
  },
  {
    question: "Do you have a discount for schools and non-profits?",
    answer: "Yes, 50%. Send us two sentences about your work, and we'll set it up the same day.",
  },
  {
    question: "Who helps me when something breaks?",
    answer: "One of our engineers: within a few hours on weekdays, and by the next morning on weekends.",
  },
];

export function Faq() {
  return (
    <section id="faq" className="mx-auto grid w-full max-w-5xl gap-10 px-6 py-20 md:grid-cols-[1fr_1.6fr]">
      <div>
        <p className="text-sm font-medium text-primary">Questions</p>
        <h2 className="mt-3 text-3xl font-semibold tracking-tight">Frequently asked questions</h2>
        <p className="mt-4 text-sm leading-relaxed text-muted-foreground">
          More questions? Write to us, and a person will answer.
        </p>
      </div>
      <Accordion type="single" collapsible defaultValue="0" className="rounded-2xl border bg-card px-6">
        {questions.map((one, index) => (
          <AccordionItem key={one.question} value={String(index)}>
            <AccordionTrigger>{one.question}</AccordionTrigger>
            <AccordionContent>{one.answer}</AccordionContent>
          </AccordionItem>
        ))}
      </Accordion>
    </section>
  );
}
